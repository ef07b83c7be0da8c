// A device for PyTorch whose memory is the machine's own, so that the adapter of devices can be tried without a GPU.
//
// Every operator runs on the CPU's kernels: the operands' memory is lent to CPU tensors of the same layout, and what
// these have become afterwards is taken over. Layouts are therefore those of eager CPU code.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/empty.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unordered_map>
#include <vector>

namespace {

constexpr auto kAbacus = c10::DeviceType::PrivateUse1;
const c10::Device kDevice(kAbacus, 0);
const c10::Device kHost(c10::DeviceType::CPU);

c10::DataPtr moved(c10::DataPtr data, c10::Device device) {
  auto* at = data.get();
  auto deleter = data.get_deleter();
  return {at, data.release_context(), deleter, device};
}

// The memory of another storage, which it keeps alive.
c10::DataPtr borrowed(const c10::Storage& storage, c10::Device device) {
  auto* at = storage.unsafeGetStorageImpl()->mutable_data();
  return {at, new c10::Storage(storage), [](void* kept) { delete static_cast<c10::Storage*>(kept); }, device};
}

// A device that disappears: as long as the file that $ABACUS_LOST names is there.
void expect_here() {
  const char* path = std::getenv("ABACUS_LOST");
  TORCH_CHECK(path == nullptr || !std::filesystem::exists(path), "abacus error: the device is gone");
}

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(size_t nbytes) override {
    expect_here();
    return moved(c10::GetCPUAllocator()->allocate(nbytes), kDevice);
  }
  void copy_data(void* to, const void* from, std::size_t nbytes) const override { default_copy_data(to, from, nbytes); }
};
Allocator allocator;
REGISTER_ALLOCATOR(kAbacus, &allocator);

struct Guard final : c10::impl::NoOpDeviceGuardImpl<kAbacus> {
  c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
  c10::Device getDevice() const override { return kDevice; }
  c10::Stream getStream(c10::Device) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, kDevice); }
  c10::Stream getNewStream(c10::Device, int) const override { return getStream(kDevice); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return getStream(kDevice); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  // All is done when a call returns: there is nothing to wait for.
  void record(void** event, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {
    *event = nullptr;
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isAvailable() const override { return true; }
  bool isBuilt() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  at::Device getDeviceFromPtr(void*) const override { return kDevice; }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t nbytes) const override {
    auto data = allocator.allocate(nbytes);
    std::memcpy(data.get(), storage.data(), std::min(nbytes, storage.nbytes()));
    storage.set_data_ptr_noswap(std::move(data));
    storage.set_nbytes(nbytes);
  }
};

// The operands of one call, with what stands for them on the CPU.
class Lent {
 public:
  ~Lent() {
    try {
      settle();
    } catch (const c10::Error&) {  // a layout that no tensor may have: the CPU's kernel has said so
    }
    for (auto& [device, host] : storages_) take_back(device, host);
  }

  at::Tensor tensor(const at::Tensor& x) {
    if (!x.defined() || x.device().type() != kAbacus) return x;
    auto* impl = x.unsafeGetTensorImpl();
    if (auto found = tensors_.find(impl); found != tensors_.end()) return found->second.second;
    auto host = like(x, storage(x.storage()), c10::DispatchKey::CPU, c10::DispatchKey::QuantizedCPU);
    if (impl->dim() == 0) host.unsafeGetTensorImpl()->set_wrapped_number(impl->is_wrapped_number());
    tensors_.emplace(impl, std::make_pair(x, host));
    return host;
  }

  c10::Storage storage(const c10::Storage& device) {
    if (device.device_type() != kAbacus) return device;
    auto* impl = device.unsafeGetStorageImpl();
    if (auto found = storages_.find(impl); found != storages_.end()) return found->second;
    c10::Storage host(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), impl->nbytes(),
                                                            borrowed(device, kHost), c10::GetCPUAllocator(),
                                                            impl->resizable()));
    storages_.emplace(impl, host);
    kept_.push_back(device);
    return host;
  }

  // What a result of the CPU's kernel is on the device: an operand itself, a view of one's memory, or new.
  at::Tensor given_back(const at::Tensor& host, bool stays) {
    if (!host.defined()) return host;
    for (auto& [impl, pair] : tensors_)
      if (pair.second.is_same(host)) return pair.first;
    if (host.device().type() != c10::DeviceType::CPU || stays) return host;
    return like(host, home(host.storage()), c10::DispatchKey::PrivateUse1, c10::DispatchKey::QuantizedPrivateUse1);
  }

 private:
  // Operands whose layout or storage the kernel has changed.
  void settle() {
    for (auto& [impl, pair] : tensors_) {
      auto& [x, host] = pair;
      auto* device = x.unsafeGetTensorImpl();
      auto now = home(host.storage());
      if (!now.is_alias_of(x.storage()) || now.unsafeGetStorageImpl() != x.storage().unsafeGetStorageImpl())
        device->set_storage_keep_dtype(now);
      if (x.sizes() != host.sizes() || x.strides() != host.strides() || x.storage_offset() != host.storage_offset())
        device->set_sizes_and_strides(host.sizes(), host.strides(), host.storage_offset());
      if (host.is_quantized()) at::get_qtensorimpl(x)->set_quantizer_(at::get_qtensorimpl(host)->quantizer());
    }
  }

  c10::Storage home(const c10::Storage& host) {
    for (size_t i = 0; i < kept_.size(); ++i) {
      auto* impl = kept_[i].unsafeGetStorageImpl();
      if (storages_.at(impl).unsafeGetStorageImpl() == host.unsafeGetStorageImpl()) return kept_[i];
    }
    auto* impl = host.unsafeGetStorageImpl();
    c10::Storage fresh(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), impl->nbytes(),
                                                             c10::DataPtr(nullptr, kDevice), &allocator, true));
    storages_.emplace(fresh.unsafeGetStorageImpl(), host);
    kept_.push_back(fresh);
    return fresh;
  }

  // A tensor of the same layout, bits and quantizer over another storage.
  static at::Tensor like(const at::Tensor& x, c10::Storage storage, c10::DispatchKey key, c10::DispatchKey quantised) {
    auto made = x.is_quantized()
        ? at::detail::make_tensor<at::QTensorImpl>(std::move(storage), c10::DispatchKeySet(quantised), x.dtype(),
                                                   at::get_qtensorimpl(x)->quantizer())
        : at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), x.dtype());
    auto* impl = made.unsafeGetTensorImpl();
    impl->set_sizes_and_strides(x.sizes(), x.strides(), x.storage_offset());
    impl->_set_conj(x.is_conj());
    impl->_set_neg(x.is_neg());
    return made;
  }

  // Memory that is new since: of a storage that is new, or has grown.
  static void take_back(c10::StorageImpl* device, c10::Storage& host) {
    device->set_nbytes(host.nbytes());
    if (host.data() != device->data()) device->set_data_ptr_noswap(borrowed(host, kDevice));
  }

  std::unordered_map<c10::TensorImpl*, std::pair<at::Tensor, at::Tensor>> tensors_;
  std::unordered_map<c10::StorageImpl*, c10::Storage> storages_;
  std::vector<c10::Storage> kept_;
};

void on_the_cpu(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  expect_here();
  const auto count = op.schema().arguments().size();
  auto arguments = torch::jit::last(*stack, count);
  const auto begin = stack->size() - count;
  Lent lent;
  bool stays = false;
  for (size_t i = 0; i < count; ++i) {
    const auto& given = arguments[i];
    auto& place = (*stack)[begin + i];
    if (given.isTensor()) {
      place = lent.tensor(given.toTensor());
    } else if (given.isStorage()) {
      place = lent.storage(given.toStorage());
    } else if (given.isTensorList()) {
      std::vector<at::Tensor> hosts;
      for (const auto& x : given.toTensorVector()) hosts.push_back(lent.tensor(x));
      place = c10::List<at::Tensor>(std::move(hosts));
    } else if (given.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> hosts;
      for (const auto& x : given.toOptionalTensorVector())
        hosts.push_back(x.has_value() ? std::optional<at::Tensor>(lent.tensor(*x)) : std::nullopt);
      place = std::move(hosts);
    } else if (given.isDevice()) {
      stays = given.toDevice().type() == c10::DeviceType::CPU;
      if (given.toDevice().type() == kAbacus) place = kHost;
    }
  }
  const bool quantised = keys.has(c10::DispatchKey::QuantizedPrivateUse1);
  op.redispatchBoxed(c10::DispatchKeySet(quantised ? c10::DispatchKey::QuantizedCPU : c10::DispatchKey::CPU), stack);
  const auto results = op.schema().returns().size();
  for (size_t i = stack->size() - results; i < stack->size(); ++i) {
    auto& result = (*stack)[i];
    if (result.isTensor()) {
      result = lent.given_back(result.toTensor(), stays);
    } else if (result.isTensorList()) {
      std::vector<at::Tensor> given;
      for (const auto& x : result.toTensorVector()) given.push_back(lent.given_back(x, stays));
      result = c10::List<at::Tensor>(std::move(given));
    }
  }
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& to, bool) {
  Lent lent;
  auto host = lent.tensor(to);
  host.copy_(lent.tensor(self));
  return to;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("_copy_from", &copy_from); }
TORCH_LIBRARY_IMPL(aten, QuantizedPrivateUse1, m) { m.impl("_copy_from", &copy_from); }
TORCH_LIBRARY_IMPL(aten, QuantizedCPU, m) { m.impl("_copy_from", &copy_from); }
// Copies resolve the bits of both sides themselves: torch's fallbacks for them would copy again, for ever.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>()); }
TORCH_LIBRARY_IMPL(_, QuantizedPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>());
}

// Where torch has both a kernel of the CPU and one for any device, the CPU's is the one that programs know.
std::vector<c10::RegistrationHandleRAII> prefer_the_cpus_kernels() {
  std::vector<c10::RegistrationHandleRAII> held;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& [device, cpu] : {std::pair(c10::DispatchKey::PrivateUse1, c10::DispatchKey::CPU),
                                    std::pair(c10::DispatchKey::QuantizedPrivateUse1, c10::DispatchKey::QuantizedCPU)})
    for (const auto& name : dispatcher.getAllOpNames()) {
      auto op = dispatcher.findOp(name);
      if (!op || !op->hasKernelForDispatchKey(cpu) || op->hasKernelForDispatchKey(device)) continue;
      held.push_back(dispatcher.registerImpl(name, device, c10::KernelFunction::makeFromBoxedFunction<&on_the_cpu>(),
                                             std::nullopt, nullptr, "abacus"));
    }
  return held;
}

Hooks hooks;
const auto held = (at::RegisterPrivateUse1HooksInterface(&hooks), prefer_the_cpus_kernels());

}  // namespace
