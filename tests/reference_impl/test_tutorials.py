"""The programs that everyone learns strides from run on torch and on the reference, only the import line changed."""

import pytest

TUTORIALS = {
    "metadata of a 3 by 4 tensor": """
import torch
x = torch.arange(12).reshape(3, 4)
print(x.shape, x.stride(), x.storage_offset(), x.dtype, x.is_contiguous(), x.element_size(), x.numel(), x.nbytes)
print(x[1].stride(), x[1].storage_offset(), x[:, 1].stride(), x[:, 1].storage_offset(), x[1:, 1:].is_contiguous())
print(x.untyped_storage().nbytes(), x[2, 3].item(), x.tolist())
""",
    "as_strided at offsets 0 and 1": """
import torch
x = torch.arange(1, 10, dtype=torch.float32).reshape(3, 3)
for offset in (0, 1):
    for size, stride in (((2, 2), (1, 2)), ((4, 2), (1, 1)), ((2, 2), (3, 1))):
        t = torch.as_strided(x, size, stride, offset)
        print(t.tolist(), t.stride(), t.storage_offset(), t.data_ptr() - x.data_ptr())
""",
    "transpose, then contiguous": """
import torch
x = torch.arange(6).view(2, 3)
y = x.t()
print(y.stride(), y.is_contiguous(), y.data_ptr() == x.data_ptr())
z = y.contiguous()
print(z.stride(), z.is_contiguous(), z.data_ptr() == x.data_ptr(), z.tolist())
y[0, 1] = 100
print(x.tolist(), z.tolist())
""",
    "view refused on a transpose": """
import torch
x = torch.arange(6).view(2, 3).t()
try:
    x.view(6)
except RuntimeError as e:
    print(type(e).__mro__[-4:])
print(x.contiguous().view(6).tolist(), x.reshape(6).tolist())
""",
    "a permuted 4-d tensor viewed as (2, 60)": """
import torch
x = torch.arange(120).view(2, 3, 4, 5)
p = x.permute(0, 2, 3, 1)
print(p.shape, p.stride(), p.is_contiguous())
try:
    p.view(2, 60)
except RuntimeError:
    print("refused")
v = p.contiguous().view(2, 60)
print(v.stride(), v[0, :6].tolist())
print(p.permute(0, 3, 1, 2).view(2, 60).tolist() == x.view(2, 60).tolist())
""",
    "zeroing through set_ on a changed storage": """
import torch
x = torch.ones(2, 3)
y = torch.zeros(0)
y.set_(x.untyped_storage(), 1, (2, 2), (3, 1))
print(y.tolist(), y.storage_offset())
y.zero_()
print(x.tolist())
storage = x.untyped_storage()
for i in range(4):
    storage[i] = 0
print(x.tolist(), y.data_ptr() - x.data_ptr())
y.set_(storage, 0, (8,))
y[6:] = 0
print(storage.nbytes(), x.tolist(), y.tolist()[:6])
""",
    "channels last": """
import torch
x = torch.arange(120.).view(2, 3, 4, 5)
y = x.to(memory_format=torch.channels_last)
print(y.stride(), y.is_contiguous(), y.is_contiguous(memory_format=torch.channels_last))
print((y + 1).stride(), y.clone().stride())
print(torch.cat([y, y]).stride(), y.sum(1).stride(), y[[0, 1]].stride(), y[:, [0, 1]].stride())
print((y * x).stride(), (x * y).stride())
""",
    "broadcasting by stride zero": """
import torch
x = torch.tensor([[1], [2], [3]])
y = x.expand(3, 4)
print(y.stride(), y.nbytes, y.untyped_storage().nbytes(), y.sum().item())
try:
    y.add_(1)
except RuntimeError:
    print("refused")
""",
}


def printed(source):
    lines = []
    exec(source, {"print": lambda *args: lines.append(" ".join(map(str, args)))})
    return lines


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorial_prints_the_same(name):
    source = TUTORIALS[name]
    assert "import torch\n" in source
    expected = printed(source)
    found = printed(source.replace("import torch\n", "import stridecheck.reference_impl as torch\n"))
    assert len(expected) > 1
    assert found == expected
