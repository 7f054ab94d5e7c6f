"""Run all benchmarks, or those named on the command line: python benchmarks/run.py gram em"""

import importlib
import sys

BENCHMARKS = (
    "start_up",
    "gram",
    "em",
    "memory",
    "imputation",
    "margins",
    "heterogeneous",
    "ehk_nested",
    "mixed_rules",
    "process_cost",
    "gap_cost",
    "process",
    "mask_coverage",
    "process_calibration",
    "cccp",
    "cccp_defaults",
    "cccp_step",
    "papers",
    "model_selection",
    "densities",
    "features",
    "million",
    "cluster",
)

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHMARKS:
        importlib.import_module(name).run()
