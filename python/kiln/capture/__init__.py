"""`python -m kiln.capture`: runs a program and records how it calls a kernel, an operation or a function: shapes, dtypes,
scalars, counts and time. Out: workloads for a kernel file, weighted by the time the program spends in them."""
