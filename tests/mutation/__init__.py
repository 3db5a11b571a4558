"""Mutation testing of `src/hush`: show that the sample of `make test` finds what all tests of `make nightly` find.

    python -m tests.mutation                          # draw, cover, run, report
    python -m tests.mutation draw                     # print the drawn mutants
    python -m tests.mutation cover run --limit-seconds 3600
    python -m tests.mutation report

A mutant is the source with one small change. `draw` draws mutants by a seed over all packages. `cover` records which
lines the cases execute that samples of `make test` contain, by several seeds. `run` runs those that cover a mutant, as
`make test` does. Where none of them fails, it traces and runs the other cases of `make nightly` that belong to the
package. `report` prints the shares.

Every step stores its results in `.mutants/` and continues where it stopped.

Read in this order:

- `operators`: the changes;
- `drawing`: which mutants are drawn;
- `project`: the folders, and copies of them in which mutants run;
- `covering` (with `coverage_plugin`): which tests cover a line;
- `running` (with `selection_plugin`): which mutants tests kill;
- `reporting`: the shares and the survivors.

Limits:

- Only lines that tests execute in their own process are traced. A test that starts `hush` in a subprocess covers
  nothing, so a mutant that only such tests reach is reported as not covered.
- Numba compiles kernels, whose lines Python never executes. Tests cover a kernel, and a statement that runs only when a
  module is imported, if they cover a line that mentions its name.
- The other cases of a test file are tried only if the file is nightly or its sampled cases execute the mutated module.
- A cached helper of a test file counts for the first test that calls it. Caches of Hush are emptied before every test
  function, and shared fixtures count for all tests that use them.
"""
