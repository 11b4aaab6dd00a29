// Module: a named tree of parameters and buffers. Layers derive from it and say what they own;
// nothing here or in any layer knows how a gradient is computed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/tensor.h"

namespace lookback::nn {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// A module owns its submodules as plain members and registers them by reference; it is therefore
// neither copied nor moved. Names and order are those of registration:
// "block.attention.query.weight".
class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // What training changes, submodules included. A tensor that is shared by several modules is
  // listed once, under its first name.
  std::vector<Tensor> parameters() const;
  NamedTensors named_parameters() const;
  // What belongs to the module but is not trained: masks, tables.
  NamedTensors named_buffers() const;
  int64_t num_parameters() const;  // elements of all parameters

  void zero_grad() const;
  // Training mode (the initial one) and evaluation mode, for layers like dropout that differ.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }

 protected:
  Module() = default;
  // Returns the same tensor, made a variable. Throws std::invalid_argument if the name is taken,
  // empty, or contains a dot.
  Tensor register_parameter(const std::string& name, const Tensor& value);
  Tensor register_buffer(const std::string& name, const Tensor& value);
  // REQUIRES: `module` lives as long as this one: a member.
  void register_module(const std::string& name, Module& module);

 private:
  void check_name(const std::string& name) const;
  void collect(const std::string& prefix, NamedTensors Module::*kind, NamedTensors& into) const;

  NamedTensors parameters_;
  NamedTensors buffers_;
  std::vector<std::pair<std::string, Module*>> modules_;
  bool training_ = true;
};

}  // namespace lookback::nn
