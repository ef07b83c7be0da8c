"""Running one program on one library: what is observed, what is skipped, and that looking changes nothing."""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
from collections.abc import Mapping

import numpy as np
import pytest
import torch
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.adapters.reference import Reference
from stridecheck.conformance.adapters.torch import Torch
from stridecheck.conformance.capabilities import needs
from stridecheck.conformance.draw.programs import draw_program
from stridecheck.conformance.draw.source import Seeded
from stridecheck.conformance.errors import UNPRINTABLE
from stridecheck.conformance.execute import MAX_TEXT, Execution, execute
from stridecheck.conformance.idiom import TemplateError
from stridecheck.conformance.observation import Observation
from stridecheck.conformance.program import DType, File, Input, Program, Ref, Step, Storage
from stridecheck.conformance.protocol import ProtocolError, Unsupported
from stridecheck.conformance.serving import Channel, serve
from stridecheck.reference_impl.shadow import UNSPECIFIED

ROW = Program((Storage(32),), (Input("float32", (4,), (1,), 2),), ())


def _program(*steps, storages=ROW.storages, inputs=ROW.inputs):
    return Program(storages, inputs, steps)


class Unprintable(Exception):
    """An exception that cannot say what it is about."""

    def __str__(self):
        return None


def test_an_exception_that_cannot_be_printed_is_the_librarys():
    """What a library raises is told by its type, whatever becomes of its text."""

    class Rude(Torch):
        def operation(self, step):
            def run(*args):
                raise Unprintable

            return run

    raised = execute(_program(Step("t", (Ref(0),))), Rude())[-1].raised
    assert (raised.type, raised.text, raised.kind) == ("Exception", UNPRINTABLE, None)


@pytest.mark.parametrize("error", [Unprintable, type("Silent", (Unsupported,), {"__str__": lambda self: None})])
def test_whatever_an_adapter_raises_is_answered(error):
    """Also an `Unsupported` that cannot be printed: the process goes on."""

    class Rude(Torch):
        def operation(self, step):
            raise error

    def sent(*messages):
        incoming, ours = os.pipe()
        theirs, outgoing = os.pipe()
        for message in messages:
            os.write(ours, json.dumps(message).encode() + b"\n")
        os.close(ours)
        serve(Rude(), Channel(incoming, outgoing))
        os.close(outgoing)
        with os.fdopen(theirs) as answers:
            return [json.loads(line) for line in answers]

    program = _program(Step("t", (Ref(0),))).to_json()
    (answer,) = sent({"batch": [[7, program]]})
    assert answer["number"] == 7
    assert UNPRINTABLE in answer["unsupported" if issubclass(error, Unsupported) else "error"]


def test_an_operation_that_needs_a_module_which_is_not_there_is_none(monkeypatch):
    """In an environment without NumPy what crosses to it is unsupported, and no error of the adapter."""
    monkeypatch.setitem(sys.modules, "numpy", None)
    program = _program(Step("numpy.asarray", (Ref(0),)))
    with pytest.raises(Unsupported, match="asarray"):
        execute(program, Torch())


@pytest.mark.parametrize(
    ("entry", "template", "says"),
    [
        ("type", "{self}.astype({dtpye!})", "type: '{dtpye!}' is no place for one of self, dtype"),
        ("type", "{self}.astype({dtype !})", "type: '{self}.astype({dtype !})' is no expression: invalid syntax"),
        ("__getitem__", "{self}[{index:indx}]", "__getitem__: 'index' stands outside of a place: {index}"),
        ("t", "{ self }.T", "t: 'self' stands outside of a place: {self}"),
        ("t", "{self.T}", "t: 'self' stands outside of a place: {self}"),
        ("t", "self.{self}", "t: '{self}' stands where no value can"),
        ("t", "dict({self}=1)", "t: '{self}' stands where no value can"),
        ("flip", "np.flip({self}, {dims}={dims})", "flip: '{dims}' stands where no value can"),
        ("t", "{self}.T)(", "t: '{self}.T)(' is no expression: unmatched ')'"),
        ("sqeeze", "{self}.squeeze()", "sqeeze: there is no such operation, but 'squeeze'"),
    ],
)
def test_a_template_that_can_mean_nothing_is_refused_when_an_adapter_is_made(entry, template, says):
    """A mistyped place in a template would make its operation unclaimed in silence."""

    class Mistyped(Numpy):
        templates: Mapping[str, str] = {**Numpy.templates, entry: template}

    with pytest.raises(TypeError, match=re.escape(f"templates: {says}")):
        Mistyped()


@pytest.mark.parametrize(
    "template",
    [
        "np.sum({self}, **{k: v for k, v in [('axis', {dim})]})",
        "np.sum({self}, {0: {dim}, 1: None}[0])",
        "{self}.sum(int('{x:02d}'.format(x={dim})))",
        "(lambda self: self.sum({dim}))({self})",
        "[self.sum({dim}) for self in [{self}]][0]",
        "{self}.sum(*{ {dim} })",
        "{self}.sum(\n    {dim},\n)",
        " {self}.sum({dim})  # a number, or so",
        "dim({self}, {dim})",
        "keepdim.sum({self}, {dim})",
        "np.sum2({self}) if hasattr(np, 'sum2') else {self}.sum({dim})",
        "hasattr(np, 'sum2') and np.sum2({self}) or {self}.sum({dim})",
    ],
)
def test_a_template_is_any_expression(template):
    """Braces that are no places are Python's: of dictionaries, sets, comprehensions and formats.

    Names of helpers and in the scope may be those of parameters; a function may be called where a release has it.
    """

    class Braced(Numpy):
        templates: Mapping[str, str] = {**Numpy.templates, "sum": template}
        helpers: Mapping[str, str] = {**Numpy.helpers, "dim": "def dim(x, dim): return x.sum(dim)"}

        def scope(self):
            return super().scope() | {"keepdim": np}

    run = Braced().operation(Step("sum", (Ref(0), 0)))
    assert run(np.ones((2, 3)), 0).tolist() == [2, 2, 2]


def test_a_template_with_a_name_that_means_nothing_is_the_adapters_fault():
    """Its NameError would be taken for what the library raises."""

    class Mistyped(Numpy):
        templates: Mapping[str, str] = {**Numpy.templates, "t": "numpie.transpose({self})"}

    with pytest.raises(TemplateError, match=r"names numpie, which is not in the adapter's scope"):
        execute(_program(Step("t", (Ref(0),))), Mistyped())


class Blind(Execution):
    """Runs steps without looking at anything until it is asked to."""

    looking = False

    def _observe(self, results, *, is_tuple=False, raised=None):
        if self.looking:
            return super()._observe(results, is_tuple=is_tuple, raised=raised)
        return Observation(results, is_tuple, raised)

    def _verify(self, number, item):
        pass

    # What is refused or vague for what was seen before: the one that looks refuses for both.
    def _remember(self, key, step, x):
        pass

    def _follow_recast(self, key, step):
        pass

    def _check_overlap(self, step):
        pass

    def _check_recast(self, step):
        pass

    def _is_specified(self, step):
        return True


@pytest.fixture(scope="module", params=[Torch, Numpy, Reference], ids=lambda make: make.name)
def library(request):
    return request.param()


def _is_specified(drawn):
    """Whether every byte that the program leaves is specified: fresh memory differs from run to run."""
    contents = [content for o in drawn.expected for content in o.storages.values()]
    return not any(content.shadow is not None and UNSPECIFIED in content.shadow for content in contents)


def _sample(oracle, library, count=700):
    drawn = (draw_program(Seeded(f"observed:{n}"), oracle) for n in range(count))
    whole = [one.program for one in drawn if _is_specified(one)]
    return [program for program in whole if library.capabilities.missing(needs(program)) is None]


def _seen(execution):
    """States and contents at the end; storages are called after who shows them now, whatever they were before."""
    names, states = {name: name for name in execution.contents if name.startswith("s")}, {}
    for key, state in sorted(execution.states.items()):
        if getattr(state, "storage", None) is not None:
            state = state._replace(storage=names.setdefault(state.storage, f"v{key}"))
        states[key] = state
    return states, {short: execution.contents[name].data for name, short in names.items() if name in execution.contents}


@pytest.mark.filterwarnings("ignore")
def test_looking_changes_nothing(library, oracle):
    """A program observed after each step ends with the same tensors, bytes and versions as one observed at its end."""
    looked_at = 0
    for program in _sample(oracle, library):
        seeing = Execution(library, program.storages, program.inputs)
        blind = Blind(library, program.storages, program.inputs)
        try:
            for step in program.steps:
                seen, unseen = seeing.step(step), blind.step(step)
                assert (seen.results, seen.raised, seen.skipped) == (unseen.results, unseen.raised, unseen.skipped)
        except Unsupported:
            continue
        blind.looking = True
        blind._observe(())
        assert _seen(blind) == _seen(seeing), program
        looked_at += 1
    assert looked_at > 120


@pytest.mark.filterwarnings("ignore")
def test_running_twice_gives_the_same_observations(library, oracle):
    """Nothing of one run (addresses, names, caches) leaks into the next."""
    for program in _sample(oracle, library, 150):
        try:
            assert execute(program, library) == execute(program, library)
        except Unsupported:
            continue


def _poking(library, at):
    """The adapter, whose `relu` also writes a byte at a place relative to the storage's begin."""

    class Poking(library):
        def operation(self, step):
            if step.op != "relu":
                return super().operation(step)

            def relu(x):
                ctypes.memset(x.untyped_storage().data_ptr() + at, 0, 1)
                return x.relu()

            return relu

    return Poking()


@pytest.mark.parametrize("library", [Torch, Reference])
@pytest.mark.parametrize("at", [-1, -64, 32, 95])
def test_a_byte_written_outside_guarded_memory_is_noticed(library, at):
    """A write into the guard on either side of foreign memory shows as damage, at its step and from then on."""
    program = _program(Step("neg", (Ref(0),)), Step("relu", (Ref(0),)), storages=(Storage(32, backing="guarded"),))
    before, neg, relu = execute(program, _poking(library, at))
    assert (before.damaged, neg.damaged, relu.damaged) == ((), (), ("s0",))
    assert execute(program, library())[-1].damaged == ()


def test_a_step_that_uses_a_value_never_made_is_skipped(oracle):
    """After a refused step, steps that need its result are skipped, those that do not go on, and slots stay."""
    program = _program(
        Step("view", (Ref(0), (3,))), Step("add", (Ref(1), Ref(0))), Step("neg", (Ref(0),)), Step("abs", (Ref(3),))
    )
    _, view, add, neg, absolute = execute(program, oracle)
    assert view.raised is not None
    assert view.raised.kind == "size"
    assert view.results is None
    assert (add.skipped, add.results, add.raised) == (True, None, None)
    assert neg.results == (None,)
    assert "3" in neg.values
    assert not absolute.skipped


def test_only_what_changed_is_observed(oracle):
    """A step's observation has the new value and the written storage, not what stayed as it was."""
    program = _program(Step("add", (Ref(0), Ref(0))), Step("fill_", (Ref(0), 1.5)), Step("is_contiguous", (Ref(0),)))
    initial, add, fill, asked = execute(program, oracle)
    assert (set(initial.values), set(initial.storages)) == ({"0"}, {"s0"})
    assert (set(add.values), set(add.storages)) == ({"1"}, {"v1"})
    assert (set(fill.values), set(fill.storages)) == ({"0"}, {"s0"})  # the version, and the bytes
    assert fill.results == ("0",)
    assert (asked.values, asked.storages, asked.results) == ({}, {}, (("scalar", "True"),))


def test_a_result_that_is_a_live_value_goes_by_both_names(oracle):
    """What an in-place step answers is the operand itself, and later steps may use it under the step's own slot."""
    program = _program(Step("mul_", (Ref(0), 2)), Step("view", (Ref(1), (2, 2))))
    _, mul, view = execute(program, oracle)
    assert mul.results == ("0",)
    assert view.values["2"].base == "0"


@pytest.mark.filterwarnings("ignore")
def test_a_tuple_of_results_fills_one_slot():
    """Results of an operation that answers a tuple are items of its slot, and steps may use each."""
    program = _program(Step("split", (Ref(0), 2)), Step("neg", (Ref(1, 1),)))
    _, split, neg = execute(program, Torch())
    assert (split.is_tuple, split.results) == (True, (None, None))
    assert [state.offset for state in split.values.values()] == [2, 4]
    assert set(neg.values) == {"2"}


class Careless(Reference):
    """Builds every input row-major at the start of its storage."""

    def tensor(self, storage, dtype, shape, strides, offset):
        return super().tensor(storage, dtype, shape, strides, 0)


class Untyped(Reference):
    """Builds every input as int8."""

    def tensor(self, storage, dtype, shape, strides, offset):
        return super().tensor(storage, "int8", shape, strides, offset)


class Refusing(Reference):
    """Builds no input at all."""

    def tensor(self, storage, dtype, shape, strides, offset):
        raise MemoryError("out of cheese")


@pytest.mark.parametrize(
    ("adapter", "says"),
    [
        (Careless, r"input 0 should have strides \(1,\) and offset 2, but the adapter built \(1,\) and 0"),
        (Untyped, r"input 0 should be \('float32', \(4,\)\), but the adapter built \('int8', \(4,\)\)"),
        (Refusing, "input 0 could not be built: MemoryError: out of cheese"),
    ],
)
def test_an_input_not_built_as_asked_is_the_adapters_fault(adapter, says):
    """An input of another dtype, layout or offset, or none, is a protocol error that says which and how."""
    with pytest.raises(ProtocolError, match=says):
        execute(ROW, adapter())


def test_free_strides_of_an_input_may_differ_where_nothing_is_addressed():
    """NumPy may give sizes of 1 and empty inputs strides of its own: that is no protocol error."""
    program = _program(inputs=(Input("float32", (1, 4), (9, 1), 2), Input("float32", (0, 2), (5, 7), 1)))
    assert len(execute(program, Numpy())) == 1


def test_an_operation_that_is_not_there_makes_the_program_unsupported():
    """A library without an operation says so for the whole program, also in its middle."""
    with pytest.raises(Unsupported, match="op:is_set_to"):
        execute(_program(Step("mul_", (Ref(0), 2)), Step("is_set_to", (Ref(0), Ref(0)))), Numpy())


class Failing(Torch):
    """Raises an error of its own class, with a long text of many lines."""

    class Own(ValueError):
        """Only this library has it."""

    def operation(self, step):
        def fail(*args):
            raise self.Own("x" * 2 * MAX_TEXT + "\nsecond line")

        return fail


def test_an_error_is_told_by_the_builtin_type_that_user_code_would_catch():
    """A library's own exception class counts as its built-in base; its text is cut to one line of bounded length."""
    observation = execute(_program(Step("neg", (Ref(0),))), Failing())[1]
    assert observation.raised == ("ValueError", "x" * MAX_TEXT, None)


def test_arguments_reach_the_library_as_its_own():
    """Dtypes and references inside arguments become the library's dtypes and the values themselves."""
    seen = []

    class Recording(Torch):
        def operation(self, step):
            return lambda *args: seen.append(args)

    program = _program(Step("stack", ((Ref(0), Ref(0)), DType("int8"), None, ...), (("out", Ref(0)),)))
    assert execute(program, Recording())[1].results == ()
    ((pair, dtype, none, ellipsis, out),) = seen
    assert pair[0] is pair[1] is out
    assert (dtype, none, ellipsis) == (torch.int8, None, ...)


def test_inputs_that_require_gradients_do():
    """The flag of an input reaches the library, and is seen in its flags."""
    program = Program(ROW.storages, (Input("float32", (4,), (1,), 0, requires_grad=True),), ())
    assert "g" in execute(program, Torch())[0].values["0"].flags
    assert "g" not in execute(ROW, Torch())[0].values["0"].flags


def test_what_is_not_exact_is_not_exact_in_its_file(oracle):
    """A tangent is right within a tolerance, in a storage and in the file it is mapped from; the rest is exact."""
    steps = (Step("from_file", (File(0), True, 1)), Step("tan_", (Ref(0),)))
    *_, last = execute(Program((Storage(5, backing="file"),), (), steps), oracle)
    assert last.storages["file0"].shadow == last.storages["v0"].shadow + b"\0"
    assert any(last.storages["v0"].shadow)
