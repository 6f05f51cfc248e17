"""Names, fields and entries of arrays in a function: what they are, and where."""

from __future__ import annotations

import ast
import builtins
from types import FunctionType, ModuleType

from rbdae.machine.language import arrays
from rbdae.machine.language.body import Body
from rbdae.machine.language.kinds import (
    FLOAT,
    INT,
    LANES,
    Array,
    Kind,
    Number,
    Object,
    Record,
    Refused,
    Several,
    Value,
    common,
    constant,
    contiguous,
    named,
    whole,
)
from rbdae.machine.language.source import Source
from rbdae.machine.language.text import Text


class Names:
    """Writes what reads names, fields and entries.

    Attributes
    ----------
    kinds, places : kinds of the local names, and where they are kept
    assigned : those that have a value by now
    lane : the name that counts a loop over each(n), inside of one
    """

    def __init__(self, source: Source, at: Body, text: Text, kinds: dict[str, Kind]) -> None:
        self.at, self.kinds = at, kinds
        self.places: dict[str, tuple[str, ...]] = {}
        self.assigned: set[str] = set()
        self.lane: str | None = None
        self._source, self._text = source, text
        function: FunctionType = source.function
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        enclosing = {name: cell.cell_contents for name, cell in cells}
        self._local = function.__code__.co_varnames
        self._outside = (text.bound, enclosing, function.__globals__, vars(builtins))

    def __call__(self, node: ast.expr) -> Value:
        """The value of an expression."""
        out = self._table(self._meant(node))
        if isinstance(out.kind, Object):
            raise Refused(f"{ast.unparse(node)!r} is no number and no array")
        return out

    def number(self, node: ast.expr) -> Value:
        """The number that an expression is."""
        out = self(node)
        if not isinstance(out.kind, Number):
            raise Refused(f"{ast.unparse(node)!r} is {out.kind.name}, and must be a number")
        return out

    def _meant(self, node: ast.expr) -> Value:
        """The value of an expression, or the object that it names."""
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        try:
            if write is None:
                raise Refused(f"{ast.unparse(node)!r} has no machine code")
            out: Value = write(node)
        except Refused as why:
            raise self._source.error(node, why) from None
        return out

    def _table(self, value: Value) -> Value:
        """A tuple of numbers as an array."""
        numbers = value.kind.object if isinstance(value.kind, Object) else None
        if not isinstance(numbers, tuple) or not all(isinstance(x, float) for x in numbers):
            return value
        return Value(contiguous(FLOAT, (len(numbers),)), (self._text.table(numbers),))

    def _constant(self, node: ast.Constant) -> Value:
        return named(node.value)

    def _name(self, node: ast.Name) -> Value:
        if node.id == self.lane:
            raise Refused(f"{node.id!r} counts a loop over each(n): it stands in v[{node.id}] only")
        if node.id in self.assigned:
            return self.at.value_of(self.kinds[node.id], self.places[node.id])
        if node.id in self._local:
            raise Refused(f"{node.id!r} may be read before it is assigned")
        for names in self._outside:
            if node.id in names:
                return named(names[node.id])
        raise Refused(f"{node.id!r} has no value here")

    def _tuple(self, node: ast.Tuple) -> Value:
        values = [self(part) for part in node.elts]
        return Value(Several(tuple(v.kind for v in values)), tuple(part for v in values for part in v.registers))

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr == "data" and isinstance(node.value, ast.Attribute) and node.value.attr == "ctypes":
            array = self(node.value.value)
            return self.at.value(INT, f"ptrtoint ptr {array.registers[0]} to i64")
        owner = self._meant(node.value)
        if isinstance(owner.kind, Object):
            if isinstance(owner.kind.object, ModuleType) and hasattr(owner.kind.object, node.attr):
                return named(getattr(owner.kind.object, node.attr))
            raise Refused(f"{ast.unparse(node)!r} has no machine code")
        if isinstance(owner.kind, Array) and node.attr in ("shape", "strides"):
            return {"shape": arrays.shape, "strides": arrays.strides}[node.attr](self.at, owner)
        return arrays.read(self.at, self._field(owner, node.attr))

    def _field(self, owner: Value, name: str) -> Value:
        """The place of a field."""
        place = arrays.field(self.at, owner, name) if isinstance(owner.kind, Record) else None
        if place is None:
            raise Refused(f"{owner.kind.name} has no {name!r}")
        return place

    # ------------------------------------------------------------ entries and slices of arrays

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self._meant(node.value)
        if isinstance(owner.kind, Object):
            values = owner.kind.object
            if isinstance(values, tuple) and (k := whole(self.number(node.slice))) is not None:
                return named(values[k])
            owner = self(node.value)
        if isinstance(owner.kind, Several):
            return self._of_tuple(node, self.at.several(owner))
        return arrays.read(self.at, self._part(node, owner))

    def _of_tuple(self, node: ast.Subscript, values: list[Value]) -> Value:
        """A value of a tuple; if its place is not known, all of them are there, and it is chosen."""
        place = self.number(node.slice)
        k = whole(place)
        if k is not None:
            return values[k]
        kind = values[0].kind
        for value in values:
            wider = common(kind, value.kind)
            if wider is None:
                raise Refused("the place in a tuple of different values must be known")
            kind = wider
        out = self.at.converted(values[-1], kind)
        for n, value in reversed(list(enumerate(values[:-1]))):
            out = self.at.chosen(self.at.compared("eq", place, constant(n)), self.at.converted(value, kind), out)
        return out

    def _part(self, node: ast.Subscript, array: Value) -> Value:
        """The place of an entry, or a part of an array."""
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not isinstance(array.kind, Array) or len(given) > len(array.kind.axes):
            raise Refused(f"{ast.unparse(node.value)!r} is {array.kind.name}, here with {len(given)} indices")
        if isinstance(node.slice, ast.Name) and node.slice.id == self.lane:
            return self._entries(array, array.kind)
        indices = [self._range(one) if isinstance(one, ast.Slice) else self.index(one) for one in given]
        return arrays.part(self.at, array, indices)

    def _entries(self, array: Value, kind: Array) -> Value:
        """The place of the entries v[i] that a loop over each(n) has in a vector register."""
        if kind.entry is not FLOAT or kind.axes[0][1] != 1:
            raise Refused("loops over each(n) have floats only, one beside the other")
        assert self.lane is not None
        k = self.at.value_of(INT, self.places[self.lane])
        return Value(Array(LANES, ()), (self.at.moved(array.registers[0], k),))

    def index(self, node: ast.expr, least: int | None = 0) -> Value:
        """A whole number, which counts from the beginning unless there is no least one."""
        out = self.number(node)
        n = whole(out)
        if out.kind is not INT or (n is not None and least is not None and n < least):
            raise Refused(f"{ast.unparse(node)!r} is no index: those are whole, and count from the beginning")
        return out

    def _range(self, part: ast.Slice) -> arrays.Part:
        if part.step is not None:
            raise Refused("slices have no step")
        first = constant(0) if part.lower is None else self.index(part.lower)
        if part.upper is None:
            return arrays.Part(first, None)
        n = None if part.lower is None else _difference(part.upper, part.lower)
        return arrays.Part(first, self.at.arithmetic("-", self.index(part.upper), first) if n is None else constant(n))

    def place(self, node: ast.expr) -> tuple[Number, str]:
        """Kind and address of an entry or a field that is assigned to."""
        if isinstance(node, ast.Attribute):
            place = self._field(self(node.value), node.attr)
        else:
            assert isinstance(node, ast.Subscript)
            place = self._part(node, self(node.value))
        found = arrays.number_at(place)
        if found is None:
            raise Refused(f"cannot assign to {ast.unparse(node)!r}, which is no number: write a loop")
        return found


def _difference(upper: ast.expr, lower: ast.expr) -> int | None:
    """n of a slice [k : k + n] or [n * i + j : ...]; None where it is not seen."""
    if (
        isinstance(upper, ast.BinOp)
        and isinstance(upper.op, ast.Add)
        and isinstance(upper.right, ast.Constant)
        and isinstance(upper.right.value, int)
        and ast.dump(upper.left) == ast.dump(lower)
    ):
        return upper.right.value
    return None
