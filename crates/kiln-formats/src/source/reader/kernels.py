"""Describes what a file defines: Triton kernels with their configurations, plain functions. Prints it as JSON."""


def triton_kernel(reader, node):
    rows, questions = [], []
    autotune = decorated(node, "autotune")
    if isinstance(autotune, ast.Call):
        given = {k.arg: k.value for k in autotune.keywords}
        source = given.get("configs", autotune.args[0] if autotune.args else None)
        if isinstance(source, ast.Name):
            source = reader.assigned.get(source.id, source)
        if isinstance(source, ast.Call) and name_of(source.func) in reader.functions:
            function = reader.functions[name_of(source.func)]
            source = next((s.value for s in ast.walk(function) if isinstance(s, ast.Return)), source)
        read_configs(reader, source, dict(reader.globals), rows, questions)
    # What is above the configurations is taken off with them; heuristics below stay, and go on computing their parameters.
    words = [decorated_by(d) for d in node.decorator_list]
    taken_off = 1 + max((at for at, word in enumerate(words) if word == "autotune"), default=-1)
    computed = set()
    for at, decorator in enumerate(node.decorator_list):
        if words[at] == "heuristics" and isinstance(decorator, ast.Call):
            values = decorator.args[0] if decorator.args else next((k.value for k in decorator.keywords if k.arg == "values"), None)
            keys = [k.value for k in values.keys if isinstance(k, ast.Constant)] if isinstance(values, ast.Dict) else None
            if keys is None:
                questions.append("What triton.heuristics computes could not be read: give those parameters in launch.py.")
            elif at >= taken_off:
                computed |= set(keys)
            else:
                questions.append(f"triton.heuristics computed {', '.join(map(str, keys))}: which values fit which configuration?")
    parameters, usual = [], {"num_warps": 4, "num_stages": 3}
    body_stores, body_loads = pointer_uses(node)
    defaults = dict(zip([a.arg for a in node.args.args][len(node.args.args) - len(node.args.defaults):], node.args.defaults))
    for parameter in node.args.posonlyargs + node.args.args + node.args.kwonlyargs:
        constant = parameter.annotation is not None and last(name_of(parameter.annotation)) == "constexpr"
        default = scalar(reader.maybe(defaults[parameter.arg], reader.globals)) if parameter.arg in defaults else None
        if default is not None and constant:
            usual[parameter.arg] = default
        parameters.append({
            "name": parameter.arg, "constexpr": constant, "default": default, "computed": parameter.arg in computed,
            "stored": parameter.arg in body_stores, "loaded": parameter.arg in body_loads,
        })
    values = values_of(rows, usual, questions)
    axes = {reader.maybe(c.args[0], {}) for c in ast.walk(node) if isinstance(c, ast.Call) and last(name_of(c.func)) == "program_id" and c.args}
    return {
        "name": node.name, "line": node.lineno, "parameters": parameters,
        "values": values, "listed": rows[len(rows) // 2] if rows else {}, "questions": questions,
        "wrappers": sum(word in ("autotune", "heuristics") for word in words[:taken_off]),
        "axes": 1 + max([a for a in axes if isinstance(a, int)], default=0),
    }


def values_of(rows, usual, questions):
    """The values of each name in the configurations, which are completed with what a name has where it is left out."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    for row in rows:
        for name in names:
            if name not in row and name in usual:
                row[name] = usual[name]
    values = {}
    for name in names:
        own = values.setdefault(name, [])
        for row in rows:
            if name in row and row[name] not in own:
                own.append(row[name])
        if all(isinstance(v, (int, float)) for v in own):
            own.sort()
    listed = {tuple(sorted((name, repr(value)) for name, value in row.items())) for row in rows}
    every = math.prod(len(own) for own in values.values())
    if rows and len(listed) < every:
        questions.append(f"triton.autotune lists {len(listed)} of the {every} combinations of its values: [constraints] can leave others out.")
    return values


def read_configs(reader, source, names, rows, questions):
    def config(node, inner):
        if not (isinstance(node, ast.Call) and last(name_of(node.func)) == "Config"):
            questions.append("A configuration of triton.autotune could not be read.")
            return
        row = {}
        meta = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "kwargs"), None)
        if isinstance(meta, ast.Dict):
            for key, value in zip(meta.keys, meta.values):
                add(row, reader.maybe(key, inner), reader.maybe(value, inner))
        for keyword in node.keywords:
            if keyword.arg in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
                add(row, keyword.arg, reader.maybe(keyword.value, inner))
        if row:
            rows.append(row)

    def add(row, key, value):
        value = scalar(value)
        if not isinstance(key, str) or value is None:
            questions.append(f"A value of {key if isinstance(key, str) else 'a tunable'} in triton.autotune could not be read.")
        else:
            row[key] = value

    if isinstance(source, (ast.List, ast.Tuple)):
        for element in source.elts:
            config(element, names)
    elif isinstance(source, (ast.ListComp, ast.GeneratorExp)):
        try:
            reader.loop(source.generators, names, lambda inner: config(source.elt, inner))
        except Unknown:
            questions.append("The configurations of triton.autotune could not be read.")
    elif isinstance(source, ast.BinOp) and isinstance(source.op, ast.Add):
        read_configs(reader, source.left, names, rows, questions)
        read_configs(reader, source.right, names, rows, questions)
    else:
        questions.append("The configurations of triton.autotune could not be read.")


def pointer_uses(node):
    """Which parameters are stored through, and which are loaded from, also by names made from them."""
    origin = {a.arg: {a.arg} for a in node.args.args + node.args.posonlyargs}

    def origins(expression):
        return set().union(*[origin.get(n.id, set()) for n in ast.walk(expression) if isinstance(n, ast.Name)], set())

    stored, loaded = set(), set()
    for statement in ast.walk(node):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            has_load = any(isinstance(c, ast.Call) and last(name_of(c.func)) in ("load", "dot") for c in ast.walk(statement.value))
            if not has_load:
                found = first_origin(statement.value, origin) or origins(statement.value)
                origin[statement.targets[0].id] = origin.get(statement.targets[0].id, set()) | found
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and call.args:
            word = last(name_of(call.func))
            if word == "store":
                stored |= first_origin(call.args[0], origin)
            elif word == "load":
                loaded |= first_origin(call.args[0], origin)
            elif word.startswith("atomic_"):
                stored |= first_origin(call.args[0], origin)
                loaded |= first_origin(call.args[0], origin)
    return stored, loaded


def first_origin(expression, origin):
    """The pointer of `x + offsets`: the leftmost name; offsets made from sizes are not pointers."""
    while isinstance(expression, ast.BinOp):
        expression = expression.left
    if isinstance(expression, ast.Call):
        # A block pointer or a descriptor is made from its base.
        made = expression.args[0] if expression.args else next((k.value for k in expression.keywords if k.arg == "base"), None)
        return first_origin(made, origin) if made is not None else set()
    names = origin.get(expression.id, set()) if isinstance(expression, ast.Name) else set()
    return set(names)


def plain_function(reader, node):
    arguments = node.args
    positional = [a.arg for a in arguments.posonlyargs + arguments.args]
    defaults = dict(zip(positional[len(positional) - len(arguments.defaults):], arguments.defaults))
    defaults.update({a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None})
    keyword = [a.arg for a in arguments.kwonlyargs]
    subscripts = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name) and isinstance(inner.slice, ast.Constant) and isinstance(inner.slice.value, str):
            found = subscripts.setdefault(inner.value.id, [])
            if inner.slice.value not in found:
                found.append(inner.slice.value)
    written = {name_of(t.value) for s in ast.walk(node) if isinstance(s, (ast.Assign, ast.AugAssign))
               for t in (s.targets if isinstance(s, ast.Assign) else [s.target]) if isinstance(t, ast.Subscript)}
    return {
        "name": node.name, "line": node.lineno, "positional": positional, "keyword": keyword,
        "defaults": {k: scalar(reader.maybe(v, reader.globals)) for k, v in defaults.items()},
        "subscripts": subscripts, "written": sorted(w for w in written if w),
        "returns": any(isinstance(s, ast.Return) and s.value is not None for s in ast.walk(node)),
    }


def read(text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"kind": "broken", "message": str(getattr(error, "msg", error)), "line": getattr(error, "lineno", None) or 1}
    reader = Reader(tree)
    reader.globals = {}
    reader.assigned = {
        n.targets[0].id: n.value for n in ast.walk(tree)
        if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name)
    }
    imports = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports.add(node.module.split(".")[0])
    called = {last(name_of(n.func)) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    if "kernel_tuner" in imports or "tune_kernel" in called:
        reader.block(tree.body, reader.globals)
        for name, function in list(reader.functions.items()):
            mentions = any(isinstance(c, ast.Call) and last(name_of(c.func)) == "tune_kernel" for c in ast.walk(function))
            if name not in reader.entered and mentions:
                # Nobody calls it here: its parameters are unknown.
                inner = dict(reader.globals)
                inner.update({a.arg: Unknown for a in function.args.args})
                reader.block(function.body, inner)
        calls = [c for c in reader.calls if c["function"] == "tune_kernel"]
        return {"kind": "kernel_tuner", "calls": calls or reader.calls}
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            reader.statement(node, reader.globals)
    kernels = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and decorated(n, "jit")]
    if kernels:
        # A helper that other kernels call launches nothing by itself.
        used = {last(name_of(c.func)) for k in kernels for c in ast.walk(k) if isinstance(c, ast.Call)}
        found = [triton_kernel(reader, k) for k in kernels if k.name not in used]
        return {"kind": "triton", "kernels": found}
    functions = [plain_function(reader, n) for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    return {"kind": "functions", "functions": functions, "torch": "torch" in imports}


print(json.dumps(read(sys.stdin.buffer.read().decode("utf-8", "replace"))))
