// A tile of query rows, one per vector lane: which keys they see, and how their vectors get into
// lanes and back.
//
// All tiles of attention are transposed: element (c, n) of a (width of a head, rows) tile and
// element (j, n) of a (keys, rows) tile lie in lane n of row c or j. A softmax over keys is then
// element by element, with no sum across lanes, keys and values are read as they lie in memory,
// and a row cannot depend on its neighbours.
//
// Included once per SIMD target, hence the unusual guard.
#if defined(LOOKBACK_ATTENTION_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_ATTENTION_TILE_INL_H_
#undef LOOKBACK_ATTENTION_TILE_INL_H_
#else
#define LOOKBACK_ATTENTION_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/kernels/attention_problem.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
inline constexpr int64_t kTileVectors = 4;
template <class T>
inline constexpr int64_t kTileRows = kTileVectors* kLanes<T>;

// Keys are taken in blocks that begin at multiples of this, wherever the queries are.
inline constexpr int64_t kKeyBlock = 128;

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();

// lse of a row: the largest score m, and l = sum of exp(score - m). Without keys l is 0.
template <class T>
T log_sum(T m, T l) {
  return l == 0 ? -kInfinity<T> : m + std::log(l);
}

inline int64_t round_up(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

inline KeyRange intersect(KeyRange x, KeyRange y) {
  return {std::max(x.begin, y.begin), std::min(x.end, y.end)};
}

// Bit j: whether may_attend[j * stride] is set; count <= 32.
inline uint32_t visible_bits(const uint8_t* may_attend, int64_t stride, int64_t count) {
  const hn::CappedTag<uint8_t, 32> d;
  constexpr auto lanes = static_cast<int64_t>(hn::MaxLanes(d));
  uint32_t bits = 0;
  int64_t j = 0;
  if constexpr (lanes >= 8) {
    for (; stride == 1 && j + lanes <= count; j += lanes) {
      uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, may_attend + j), hn::Zero(d)), bytes);
      for (int64_t i = 0; i < lanes / 8; ++i) bits |= uint32_t{bytes[i]} << (j + 8 * i);
    }
  }
  for (; j < count; ++j) bits |= uint32_t{may_attend[j * stride] != 0} << j;
  return bits;
}

// A rectangle of scores: some vectors of rows, and keys of one block that they see.
struct Part {
  int64_t lane;     // the first
  int64_t vectors;  // 1 or more
  KeyRange keys;

  int64_t key_count() const { return keys.end - keys.begin; }
};

template <class T>
class QueryTile {
 public:
  // The tile that begins at row `first` of a (batch, key/value head) pair.
  QueryTile(const AttentionInputs<T>& in, int64_t pair, int64_t first)
      : mask_(in.mask), count_(std::min(in.rows() - first, kTileRows<T>)) {
    Place place = place_of(in, pair, first);
    const int64_t next_head = (place.g + 1) * in.group();
    for (int64_t n = 0; n < width(); ++n) {
      place_[n] = place;
      keys_[n] = visible_keys(in.shape, place.i);
      // Lanes beyond the last row repeat it.
      if (n + 1 >= count_) continue;
      if (++place.h == next_head) {
        place.h -= in.group();
        ++place.i;
      }
    }
  }

  int64_t count() const { return count_; }                       // rows
  int64_t width() const { return round_up(count_, kLanes<T>); }  // lanes that hold them
  int64_t vectors() const { return width() / kLanes<T>; }
  const Place& place(int64_t n) const { return place_[n]; }

  // The keys that at least one of the lanes sees. Later rows see no earlier keys than others.
  KeyRange keys(int64_t first_lane, int64_t last_lane) const {
    return {keys_[first_lane].begin, keys_[last_lane].end};
  }
  KeyRange keys() const { return keys(0, width() - 1); }
  KeyRange keys_of_vector(int64_t lane, KeyRange block) const {
    return intersect(block, keys(lane, lane + kLanes<T> - 1));
  }

  // Splits what the two vectors from `lane` on (or the last one) see of a block: keys that only
  // the first sees, that both see, that only the second sees. Returns the number of parts.
  int64_t split(int64_t lane, KeyRange block, Part (&parts)[3]) const {
    const KeyRange x = keys_of_vector(lane, block);
    KeyRange y = x;
    int64_t vectors = 1;
    if (lane + kLanes<T> < width()) {
      y = keys_of_vector(lane + kLanes<T>, block);
      vectors = 2;
    }
    int64_t count = 0;
    const auto add = [&](int64_t first, int64_t n, int64_t begin, int64_t end) {
      if (begin < end) parts[count++] = {first, n, {begin, end}};
    };
    add(lane, 1, x.begin, std::min(x.end, y.begin));
    add(lane, vectors, y.begin, x.end);
    add(lane + kLanes<T>, 1, std::max(x.end, y.begin), y.end);
    return count;
  }

  // Whether some lane of the part may not attend some key of the part, as far as is known without
  // reading the mask.
  bool hides(const Part& p) const { return mask_.data != nullptr || hides_by_position(p); }

  // Overwrites what a lane may not attend in a (keys of the part, lanes of the part) tile.
  void hide(const Part& p, T value, T* s, int64_t s_row) const {
    if (hides_by_position(p)) hide_by_position(p, value, s, s_row);
    if (mask_.data == nullptr) return;
    for (int64_t n = 0; n < p.vectors * kLanes<T>; n += kLanes<T>) {
      for (int64_t j = 0; j < p.key_count(); j += 32) {
        hide_by_mask(p.lane + n, {p.keys.begin + j, std::min(p.keys.begin + j + 32, p.keys.end)},
                     value, s + j * s_row + n, s_row);
      }
    }
  }

  // Fills rows[n] with the address of each lane's row in a (B, H, T, width) array.
  template <class Array, class Pointer>
  void rows_of(const Array& array, Pointer* rows) const {
    for (int64_t n = 0; n < width(); ++n) {
      rows[n] = row_of(array, place_[n].b, place_[n].h, place_[n].i);
    }
  }

 private:
  bool hides_by_position(const Part& p) const {
    const int64_t last = p.lane + p.vectors * kLanes<T> - 1;
    return keys_[last].begin > p.keys.begin || keys_[p.lane].end < p.keys.end;
  }

  void hide_by_position(const Part& p, T value, T* s, int64_t s_row) const {
    const hn::ScalableTag<T> d;
    const int64_t lanes = p.vectors * kLanes<T>;
    HWY_ALIGN T begin[kTileRows<T>];
    HWY_ALIGN T end[kTileRows<T>];
    for (int64_t n = 0; n < lanes; ++n) {
      const KeyRange k = intersect(keys_[p.lane + n], p.keys);
      begin[n] = static_cast<T>(k.begin - p.keys.begin);
      end[n] = static_cast<T>(k.end - p.keys.begin);
    }
    for (int64_t j = 0; j < p.key_count(); ++j) {
      const auto key = hn::Set(d, static_cast<T>(j));
      for (int64_t n = 0; n < lanes; n += kLanes<T>) {
        const auto hidden =
            hn::Or(hn::Lt(key, hn::Load(d, begin + n)), hn::Ge(key, hn::Load(d, end + n)));
        T* at = s + j * s_row + n;
        hn::Store(hn::IfThenElse(hidden, hn::Set(d, value), hn::Load(d, at)), d, at);
      }
    }
  }

  // One vector of lanes, from `lane` on, and at most 32 keys: a word of bits for each lane.
  void hide_by_mask(int64_t lane, KeyRange keys, T value, T* s, int64_t s_row) const {
    const hn::ScalableTag<T> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    using Word = hn::TFromD<decltype(du)>;
    const int64_t count = keys.end - keys.begin;
    HWY_ALIGN Word words[kLanes<T>];
    uint32_t all = ~uint32_t{0} >> (32 - count);
    for (int64_t n = 0; n < kLanes<T>; ++n) {
      const Place& at = place_[lane + n];
      const uint8_t* may_attend = mask_.data + at.b * mask_.batch_stride +
                                  at.h * mask_.head_stride + at.i * mask_.query_stride +
                                  keys.begin * mask_.key_stride;
      const uint32_t bits = visible_bits(may_attend, mask_.key_stride, count);
      words[n] = bits;
      all &= bits;
    }
    if (all == ~uint32_t{0} >> (32 - count)) return;
    const auto seen = hn::Load(du, words);
    for (int64_t j = 0; j < count; ++j, s += s_row) {
      const auto bit = hn::Set(du, Word{1} << j);
      const auto visible = hn::RebindMask(d, hn::TestBit(seen, bit));
      hn::Store(hn::IfThenElse(visible, hn::Load(d, s), hn::Set(d, value)), d, s);
    }
  }

  MayAttend mask_;
  int64_t count_;
  Place place_[kTileRows<T>];
  KeyRange keys_[kTileRows<T>];
};

// A square that can be transposed in registers: 4 x 4 floats or 2 x 2 doubles in 128-bit vectors.
#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr size_t kSide = 1;

template <class D, class V>
HWY_INLINE void transpose_square(D /*d*/, V (&/*x*/)[1]) {}
#else
template <class T>
inline constexpr size_t kSide = 16 / sizeof(T);

template <class D, class V>
HWY_INLINE void transpose_square(D d, V (&x)[4]) {
  const V x02 = hn::InterleaveLower(d, x[0], x[2]);
  const V x13 = hn::InterleaveLower(d, x[1], x[3]);
  const V y02 = hn::InterleaveUpper(d, x[0], x[2]);
  const V y13 = hn::InterleaveUpper(d, x[1], x[3]);
  x[0] = hn::InterleaveLower(d, x02, x13);
  x[1] = hn::InterleaveUpper(d, x02, x13);
  x[2] = hn::InterleaveLower(d, y02, y13);
  x[3] = hn::InterleaveUpper(d, y02, y13);
}

template <class D, class V>
HWY_INLINE void transpose_square(D d, V (&x)[2]) {
  const V upper = hn::InterleaveUpper(d, x[0], x[1]);
  x[0] = hn::InterleaveLower(d, x[0], x[1]);
  x[1] = upper;
}
#endif

// tile[c, n] = rows[n][c] for all lanes n of the width and c < size.
template <class T>
void load_transposed(const T* const* rows, int64_t width, int64_t size, T* tile) {
  const hn::FixedTag<T, kSide<T>> d;
  constexpr auto side = static_cast<int64_t>(kSide<T>);
  for (int64_t n = 0; n < width; n += side) {
    int64_t c = 0;
    for (; c + side <= size; c += side) {
      hn::Vec<decltype(d)> x[kSide<T>];
      for (size_t i = 0; i < kSide<T>; ++i) x[i] = hn::LoadU(d, (rows + n)[i] + c);
      transpose_square(d, x);
      T* to = tile + c * width + n;
      for (size_t i = 0; i < kSide<T>; ++i, to += width) hn::Store(x[i], d, to);
    }
    for (; c < size; ++c) {
      for (int64_t i = n; i < n + side; ++i) tile[c * width + i] = rows[i][c];
    }
  }
}

// rows[n][c] = tile[c, n] for n < count and c < size.
template <class T>
void store_transposed(const T* tile, int64_t width, int64_t count, int64_t size, T* const* rows) {
  const hn::FixedTag<T, kSide<T>> d;
  constexpr auto side = static_cast<int64_t>(kSide<T>);
  for (int64_t n = 0; n < count; n += side) {
    int64_t c = 0;
    if (n + side <= count) {
      for (; c + side <= size; c += side) {
        hn::Vec<decltype(d)> x[kSide<T>];
        const T* from = tile + c * width + n;
        for (size_t i = 0; i < kSide<T>; ++i, from += width) x[i] = hn::Load(d, from);
        transpose_square(d, x);
        for (size_t i = 0; i < kSide<T>; ++i) hn::StoreU(x[i], d, (rows + n)[i] + c);
      }
    }
    for (; c < size; ++c) {
      for (int64_t i = n; i < std::min(n + side, count); ++i) rows[i][c] = tile[c * width + i];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_ATTENTION_TILE_INL_H_
