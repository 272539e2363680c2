"""Run a module that prints or writes a generated file: scripts/print_module.py MODULE

As `python -m`, once the apps are loaded. `scripts/fix` runs this.
"""

import runpy
import sys

import django

django.setup()
runpy.run_module(sys.argv[1], run_name="__main__")
