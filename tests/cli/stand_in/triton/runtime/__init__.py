from . import cache, jit


class Driver:
    active = None

    def set_active(self, active):
        self.active = active


driver = Driver()
