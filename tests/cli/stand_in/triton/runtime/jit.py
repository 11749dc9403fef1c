import hashlib
import os
import time
from types import SimpleNamespace


class JITFunction:
    def __init__(self, function):
        self.function = function

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

    def run(self, x, *, grid, warmup, num_warps, BLOCK, SHARED=0, SECONDS=0):
        import triton
        from triton.runtime.cache import get_cache_manager

        assert warmup, "there is nothing to launch on"
        assert num_warps & (num_warps - 1) == 0, "num_warps must be a power of 2"
        assert x.data_ptr() % 16 == 0
        target = triton.runtime.driver.active.get_current_target()
        name = hashlib.sha256(repr((target, x.shape, num_warps, BLOCK, SHARED)).encode()).hexdigest()
        folder = get_cache_manager(name).cache_dir
        if not os.path.isdir(folder):
            time.sleep(SECONDS)
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(os.environ["TRITON_CACHE_DIR"], "processes"), "a") as file:
                file.write("%d\n" % os.getpid())
            if triton.knobs.nvidia.dump_ptxas_log:
                registers = min(255, BLOCK // num_warps)
                spilled = 4 * (BLOCK // num_warps - registers)
                print("ptxas info    : Compiling entry function 'stand_in' for 'sm_%da'" % target.arch)
                print("ptxas info    : Function properties for stand_in")
                print("    0 bytes stack frame, %d bytes spill stores, %d bytes spill loads" % (spilled, spilled))
                print("ptxas info    : Used %d registers, used 1 barriers" % registers)
        metadata = {"hash": name, "name": "stand_in", "num_warps": num_warps, "shared": SHARED + 4 * x.shape[1]}
        return SimpleNamespace(metadata=SimpleNamespace(**metadata))
