"""Cone programs: the package that solves them is asked for only where one is solved."""

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["clarabel"] = None  # as if it were not installed
import gapkernel as gk
from gapkernel.papers import expected_kernel, genrbf, kernel_extension, microbiology, missing_variables
X, y = [[0.0, 0.1], [0.2, None], [None, 1.9], [2.1, 2.0]], [0, 0, 1, 1]
gk.SVC(gamma=0.5).fit(X, y)
genrbf.GeometricMarginSVC().fit(X, y)
for cone in (expected_kernel.RobustSVC(gamma=0.5), genrbf.GeometricMarginSVC(method="separable")):
    try:
        cone.fit(X, y)
    except ImportError as error:
        print(error)
"""


def test_only_who_solves_a_cone_program_needs_clarabel():
    said = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ['Cone programs need clarabel: pip install "gapkernel[papers]".'] * 2
