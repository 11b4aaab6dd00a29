#include "nn/module.h"

#include "engine/error.h"

namespace lookback::nn {

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> result;
  for (const auto& [name, parameter] : named_parameters()) result.push_back(parameter);
  return result;
}

NamedTensors Module::named_parameters() const {
  NamedTensors result;
  collect("", &Module::parameters_, result);
  return result;
}

NamedTensors Module::named_buffers() const {
  NamedTensors result;
  collect("", &Module::buffers_, result);
  return result;
}

int64_t Module::num_parameters() const {
  int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

void Module::zero_grad() const {
  for (const Tensor& parameter : parameters()) parameter.zero_grad();
}

void Module::train(bool on) {
  training_ = on;
  for (const auto& [name, module] : modules_) module->train(on);
}

Tensor Module::register_parameter(const std::string& name, const Tensor& value) {
  check_name(name);
  value.set_requires_grad(true);
  parameters_.emplace_back(name, value);
  return value;
}

Tensor Module::register_buffer(const std::string& name, const Tensor& value) {
  check_name(name);
  buffers_.emplace_back(name, value);
  return value;
}

void Module::register_module(const std::string& name, Module& module) {
  check_name(name);
  check(&module != this, "register_module", "a module cannot contain itself, as '", name, "'");
  modules_.emplace_back(name, &module);
}

void Module::check_name(const std::string& name) const {
  check(!name.empty() && name.find('.') == std::string::npos, "module",
        "a name must not be empty or contain a dot; got '", name, "'");
  bool taken = false;
  for (const auto& [other, tensor] : parameters_) taken |= other == name;
  for (const auto& [other, tensor] : buffers_) taken |= other == name;
  for (const auto& [other, module] : modules_) taken |= other == name;
  check(!taken, "module", "the name '", name, "' is registered already");
}

void Module::collect(const std::string& prefix, NamedTensors Module::*kind,
                     NamedTensors& into) const {
  for (const auto& [name, tensor] : this->*kind) {
    bool listed = false;
    for (const auto& [other, seen] : into) listed |= seen.is_same(tensor);
    if (!listed) into.emplace_back(prefix + name, tensor);
  }
  for (const auto& [name, module] : modules_) module->collect(prefix + name + ".", kind, into);
}

}  // namespace lookback::nn
