"""The mechanisms: one file a family. `_base` says what a mechanism is; `registry` names them all."""
