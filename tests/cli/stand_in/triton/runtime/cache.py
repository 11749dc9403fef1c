import os
from types import SimpleNamespace


def get_cache_manager(name):
    return SimpleNamespace(cache_dir=os.path.join(os.environ["TRITON_CACHE_DIR"], name))
