"""Evaluates expressions and statements as far as constants go, and gathers calls of tuners on the way."""


class Reader:
    def __init__(self, tree):
        self.functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        self.calls, self.depth, self.entered, self.steps = [], 0, set(), 0

    # -- expressions

    def value(self, node, names):
        self.steps += 1
        if self.steps > 2_000_000:
            raise Unknown
        method = getattr(self, "of_" + type(node).__name__.lower(), None)
        if method is None:
            raise Unknown
        try:
            return method(node, names)
        except (ArithmeticError, TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as e:
            raise Unknown from e

    def of_constant(self, node, names):
        return node.value

    def of_name(self, node, names):
        if node.id not in names or names[node.id] is Unknown:
            raise Unknown
        return names[node.id]

    def of_list(self, node, names):
        return self.elements(node.elts, names)

    def of_tuple(self, node, names):
        return tuple(self.elements(node.elts, names))

    def elements(self, nodes, names):
        """The values of a list; those that are not known stand in it as such."""
        found = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self.items(self.value(node.value, names)))
            else:
                found.append(self.maybe(node, names))
        return found

    def of_dict(self, node, names):
        return {self.value(k, names): self.maybe(v, names) for k, v in zip(node.keys, node.values)}

    def of_unaryop(self, node, names):
        value = self.value(node.operand, names)
        if isinstance(node.op, ast.USub):
            return -plain(value)
        if isinstance(node.op, ast.Not):
            return not plain(value)
        return plain(value)

    def of_binop(self, node, names):
        a, b = self.value(node.left, names), self.value(node.right, names)
        for one, other in ((a, b), (b, a)):
            # An array times a number, or plus another array, has the same shape.
            if isinstance(one, Array):
                return Array(one.dtype, one.shape)
        dtype = next((x.dtype for x in (a, b) if isinstance(x, Scalar)), None)
        a, b = plain(a), plain(b)
        if isinstance(a, (str, list, tuple)) or isinstance(b, (str, list, tuple)):
            if not isinstance(node.op, (ast.Add, ast.Mult)) or isinstance(a, str) != isinstance(b, str):
                if not isinstance(node.op, ast.Mult):
                    raise Unknown
            if isinstance(node.op, ast.Mult) and max(x for x in (a, b) if isinstance(x, int)) > MOST:
                raise Unknown
        result = power(a, b) if isinstance(node.op, ast.Pow) else OPERATORS[type(node.op)](a, b)
        return Scalar(result, dtype) if dtype and isinstance(result, int) else result

    def of_boolop(self, node, names):
        result = None
        for part in node.values:
            result = plain(self.value(part, names))
            if bool(result) == isinstance(node.op, ast.Or):
                break
        return result

    def of_compare(self, node, names):
        left = plain(self.value(node.left, names))
        for op, right in zip(node.ops, node.comparators):
            right = plain(self.value(right, names))
            if not COMPARISONS[type(op)](left, right):
                return False
            left = right
        return True

    def of_ifexp(self, node, names):
        return self.value(node.body if plain(self.value(node.test, names)) else node.orelse, names)

    def of_subscript(self, node, names):
        container = self.value(node.value, names)
        if isinstance(node.slice, ast.Slice):
            parts = [None if p is None else plain(self.value(p, names)) for p in (node.slice.lower, node.slice.upper, node.slice.step)]
            return container[slice(*parts)]
        item = container[plain(self.value(node.slice, names))]
        if item is Unknown:
            raise Unknown
        return item

    def of_joinedstr(self, node, names):
        return "".join(
            str(plain(self.value(part.value, names))) if isinstance(part, ast.FormattedValue) else part.value for part in node.values
        )

    def of_attribute(self, node, names):
        if last(name_of(node)) == "pi":
            return math.pi
        value = self.value(node.value, names)
        if isinstance(value, Array) and node.attr == "size":
            return math.prod(value.shape)
        if isinstance(value, Array) and node.attr == "shape":
            return tuple(value.shape)
        raise Unknown

    def of_listcomp(self, node, names):
        found = []
        self.loop(node.generators, dict(names), lambda inner: found.append(self.value(node.elt, inner)))
        return found

    of_generatorexp = of_listcomp

    def loop(self, generators, names, visit):
        if not generators:
            visit(names)
            return
        first, rest = generators[0], generators[1:]
        for item in self.items(self.value(first.iter, names)):
            inner = dict(names)
            self.bind(first.target, item, inner)
            if all(plain(self.value(test, inner)) for test in first.ifs):
                self.loop(rest, inner, visit)

    def items(self, value):
        value = plain(value)
        if isinstance(value, dict):
            value = list(value)
        if not isinstance(value, (list, tuple, range)) or len(value) > MOST:
            raise Unknown
        return list(value)

    def of_lambda(self, node, names):
        return node

    def of_call(self, node, names):
        name = name_of(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            target = None
            try:
                target = self.value(node.func.value, names)
            except Unknown:
                pass
            if target is not None:
                return self.method(node.func.attr, target, node, names)
        short = last(name)
        if short in ("tune_kernel", "run_kernel"):
            self.tuned(node, names, short)
            raise Unknown
        if name in self.functions:
            return self.entered_function(self.functions[name], node, names)
        arguments = self.elements(node.args, names)
        keywords = {k.arg: self.maybe(k.value, names) for k in node.keywords if k.arg and k.arg != "dtype"}
        dtype = next((self.dtype(k.value) for k in node.keywords if k.arg == "dtype"), None)
        return self.called(short, arguments, keywords, dtype, node)

    def dtype(self, node):
        return DTYPES.get(last(name_of(node))) or (DTYPES.get(node.value) if isinstance(node, ast.Constant) else None)

    def called(self, short, arguments, keywords, dtype, node):
        if short in DTYPES:
            value = arguments[0]
            if isinstance(value, Array):
                return Array(DTYPES[short], value.shape)
            value = plain(value)
            if not isinstance(value, (int, float)):
                raise Unknown
            return Scalar(int(value) if DTYPES[short][0] in "iu" else value, DTYPES[short])
        if short in ("rand", "randn", "random", "normal", "uniform", "standard_normal", "integers", "randint"):
            if short in ("rand", "randn"):
                return Array("f64", shape_of(arguments))
            size = keywords.get("size", arguments[-1] if arguments else None)
            return Array("f64" if "int" not in short else "i64", shape_of([size]))
        if short in ("zeros", "ones", "empty", "full", "arange", "pagelocked_empty", "pagelocked_zeros"):
            sizes = arguments[:1]
            named = next((self.dtype(a) for a in node.args[1:] if self.dtype(a)), None)
            stated = len(node.args) > 1 or any(k.arg == "dtype" for k in node.keywords)
            usual = None if stated else "i64" if short == "arange" else "f64"
            return Array(dtype or named or usual, shape_of(sizes))
        if short in ("zeros_like", "ones_like", "empty_like", "copy", "absolute", "abs", "sort", "cos", "sin", "exp", "sqrt", "ascontiguousarray"):
            if isinstance(arguments[0], Array):
                return Array(dtype or arguments[0].dtype, arguments[0].shape)
        if short in ("array", "asarray") and isinstance(arguments[0], (list, tuple)):
            return Array(dtype or "f64", [len(arguments[0])])
        if short == "open":
            return File(arguments[0])
        if short in ("OrderedDict", "dict"):
            return dict(arguments[0], **keywords) if arguments else dict(keywords)
        values = [plain(a) for a in arguments]
        simple = {
            "prod": lambda v: math.prod(plain(x) for x in v), "ceil": math.ceil, "floor": math.floor, "sqrt": math.sqrt,
            "log2": math.log2, "int": int, "float": float, "len": len, "list": list, "tuple": tuple, "sorted": sorted,
            "str": str, "abs": abs, "sum": sum, "round": round, "bool": bool, "set": lambda v: sorted(set(v)),
        }
        if short in simple:
            return simple[short](*values)
        if short in ("max", "min", "amax", "amin"):
            values = values[0] if len(values) == 1 else values
            return (max if "max" in short else min)(plain(v) for v in values)
        if short == "range":
            return self.bounded(range(*[int(v) for v in values]))
        if short == "product":
            return [()] if not values else [tuple(c) for c in __import__("itertools").product(*map(self.items, values))][:MOST]
        if short == "zip":
            return list(zip(*map(self.items, values)))
        if short == "enumerate":
            return list(enumerate(self.items(values[0])))
        raise Unknown

    def bounded(self, values):
        if len(values) > MOST:
            raise Unknown
        return values

    def method(self, method, target, node, names):
        if method == "astype" and isinstance(target, Array):
            dtype = self.dtype(node.args[0])
            if dtype is None:
                raise Unknown
            return Array(dtype, target.shape)
        if method in ("reshape",) and isinstance(target, Array):
            return Array(target.dtype, shape_of([self.value(a, names) for a in node.args]))
        if method in ("ravel", "flatten") and isinstance(target, Array):
            return Array(target.dtype, [math.prod(target.shape)])
        if method == "copy" and isinstance(target, (Array, list, dict)):
            return target if isinstance(target, Array) else type(target)(target)
        if method == "read" and isinstance(target, File):
            return target
        if method == "keys" and isinstance(target, dict):
            return list(target)
        if method == "values" and isinstance(target, dict):
            return list(target.values())
        if method == "items" and isinstance(target, dict):
            return list(target.items())
        if method == "update" and isinstance(target, dict):
            target.update(self.value(node.args[0], names))
            return None
        if method == "append" and isinstance(target, list):
            target.append(self.maybe(node.args[0], names))
            return None
        if method == "format" and isinstance(target, str):
            return target.format(*[plain(self.value(a, names)) for a in node.args])
        raise Unknown

    def maybe(self, node, names):
        try:
            return self.value(node, names)
        except Unknown:
            return Unknown

    # -- statements

    def entered_function(self, function, node, names):
        if self.depth > 8 or function.args.vararg or function.args.kwarg:
            raise Unknown
        self.entered.add(function.name)
        parameters = [a.arg for a in function.args.posonlyargs + function.args.args]
        inner = dict(self.globals)
        for name, default in zip(parameters[len(parameters) - len(function.args.defaults):], function.args.defaults):
            inner[name] = self.maybe(default, names)
        for name, argument in zip(parameters, node.args):
            inner[name] = self.maybe(argument, names)
        for keyword in node.keywords:
            if keyword.arg:
                inner[keyword.arg] = self.maybe(keyword.value, names)
        self.depth += 1
        try:
            result = self.block(function.body, inner)
        finally:
            self.depth -= 1
        if result is None or result is Unknown:
            raise Unknown
        return result[0]

    def bind(self, target, value, names):
        if isinstance(target, ast.Name):
            names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            try:
                parts = self.items(value)
            except Unknown:
                parts = []
            for at, part in enumerate(target.elts):
                self.bind(part, parts[at] if at < len(parts) else Unknown, names)
        elif isinstance(target, ast.Subscript):
            container, key = self.maybe(target.value, names), self.maybe(target.slice, names)
            if isinstance(container, (dict, list)) and key is not Unknown:
                try:
                    container[plain(key)] = value
                except (TypeError, IndexError, Unknown):
                    pass

    def block(self, statements, names):
        """Runs statements; gives (value,) of a return."""
        for statement in statements:
            result = self.statement(statement, names)
            if result is not None:
                return result
        return None

    def statement(self, node, names):
        if isinstance(node, ast.Assign):
            value = self.maybe(node.value, names)
            for target in node.targets:
                self.bind(target, value, names)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.bind(node.target, self.maybe(node.value, names), names)
        elif isinstance(node, ast.AugAssign):
            whole = ast.copy_location(ast.BinOp(left=as_load(node.target), op=node.op, right=node.value), node)
            self.bind(node.target, self.maybe(whole, names), names)
        elif isinstance(node, ast.Expr):
            self.maybe(node.value, names)
        elif isinstance(node, ast.Return):
            return (self.maybe(node.value, names) if node.value is not None else Unknown,)
        elif isinstance(node, ast.With):
            for item in node.items:
                value = self.maybe(item.context_expr, names)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, value, names)
            return self.block(node.body, names)
        elif isinstance(node, ast.If):
            test = self.maybe(node.test, names)
            main = isinstance(node.test, ast.Compare) and name_of(node.test.left) == "__name__"
            if main or (test is not Unknown and test):
                return self.block(node.body, names)
            if test is Unknown:
                # Which branch is taken is not known: the first is looked at.
                self.block(node.body, names)
                return None
            return self.block(node.orelse, names)
        elif isinstance(node, ast.For):
            values = self.maybe(node.iter, names)
            try:
                items = self.items(values)[:64] if values is not Unknown else [Unknown]
            except Unknown:
                items = [Unknown]
            for item in items:
                self.bind(node.target, item, names)
                self.block(node.body, names)
        elif isinstance(node, ast.Try):
            return self.block(node.body, names) or self.block(node.finalbody, names)
        elif isinstance(node, ast.While):
            self.block(node.body, names)
        elif isinstance(node, ast.FunctionDef):
            names.pop(node.name, None)
        return None

    # -- Kernel Tuner

    def tuned(self, node, names, function):
        order = ["kernel_name", "kernel_source", "problem_size", "arguments"] + (["tune_params"] if function == "tune_kernel" else ["params"])
        given = dict(zip(order, node.args))
        given.update({k.arg: k.value for k in node.keywords if k.arg})
        known = lambda key: self.maybe(given[key], names) if key in given else None
        call = {"line": node.lineno, "function": function, "questions": []}
        call["kernel"] = shown(known("kernel_name"))
        source = known("kernel_source")
        source = source if isinstance(source, list) else [source]
        call["sources"] = [s.name if isinstance(s, File) else s for s in source if isinstance(s, (File, str))]
        problem = known("problem_size")
        call["problem_size"] = self.sizes(problem, given.get("problem_size"), names)
        arguments = known("arguments")
        if isinstance(given.get("arguments"), ast.Name) and not isinstance(arguments, (list, tuple)):
            arguments = Unknown
        call["arguments"] = [argument(a) for a in arguments] if isinstance(arguments, (list, tuple)) else None
        params = known("tune_params") or known("params")
        call["tunables"] = []
        if isinstance(params, dict):
            for name, values in params.items():
                if isinstance(name, str) and name.isidentifier():
                    call["tunables"].append({"name": name, "values": listed(values)})
                else:
                    call["questions"].append(f"The tunable {str(name)[:40]!r} has no name that kiln can use.")
        elif function == "tune_kernel":
            call["questions"].append("The tunables of tune_kernel could not be read.")
        for axis in "xyz":
            divisors = known("grid_div_" + axis)
            if divisors is Unknown or isinstance(divisors, ast.Lambda):
                call["questions"].append(f"grid_div_{axis} could not be read.")
                divisors = None
            call["grid_div_" + axis] = [str(d) for d in divisors] if isinstance(divisors, (list, tuple)) else None
        blocks = known("block_size_names")
        call["block_size_names"] = list(blocks) if isinstance(blocks, (list, tuple)) else ["block_size_x", "block_size_y", "block_size_z"]
        call["restrictions"] = self.restrictions(known("restrictions"), given.get("restrictions"), call)
        options = known("compiler_options")
        call["compiler_options"] = [o for o in options if isinstance(o, str)] if isinstance(options, (list, tuple)) else []
        call["lang"] = shown(known("lang"))
        constant = known("cmem_args")
        call["constants"] = list(constant) if isinstance(constant, dict) else []
        call["dynamic_shared"] = "smem_args" in given
        answer = known("answer")
        call["answers"] = [a is not None for a in answer] if isinstance(answer, (list, tuple)) else None
        self.calls.append(call)

    def sizes(self, problem, node, names):
        if problem is None or problem is Unknown:
            if isinstance(node, (ast.Tuple, ast.List)):
                return [self.size(self.maybe(e, names)) for e in node.elts]
            return None
        if isinstance(problem, (list, tuple)):
            return [self.size(p) for p in problem]
        return [self.size(problem)]

    def size(self, value):
        try:
            value = plain(value) if value is not Unknown else None
        except Unknown:
            return None
        if isinstance(value, str):
            return value
        return int(value) if isinstance(value, (int, float)) else None

    def restrictions(self, value, node, call):
        found = []
        if value is None:
            return found
        items = value if isinstance(value, (list, tuple)) else [value]
        nodes = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node] * len(items)
        for item, inner in zip(items, nodes):
            if isinstance(item, str):
                found.append(item)
            elif isinstance(item, ast.Lambda):
                found.append(unpacked(item))
            elif isinstance(inner, ast.Name) and inner.id in self.functions:
                function = self.functions[inner.id]
                result = next((s for s in function.body if isinstance(s, ast.Return)), None)
                if len([s for s in function.body if not isinstance(s, ast.Expr)]) == 1 and result is not None:
                    found.append(unpacked(ast.Lambda(args=function.args, body=result.value)))
                else:
                    call["questions"].append(f"The restriction {inner.id} could not be read.")
            else:
                call["questions"].append("A restriction could not be read.")
        return found


METHODS = {"astype", "reshape", "ravel", "flatten", "copy", "read", "keys", "values", "items", "update", "append", "format"}
