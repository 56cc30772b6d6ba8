"""Sets the platform of the wheel: it contains a program, so it is not `py3-none-any`."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["SANDBOX_WHEEL_PLATFORM"]
