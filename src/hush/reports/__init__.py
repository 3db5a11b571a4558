"""Pictures and pages that people would rather look at: PNG figures, and one self-contained HTML page."""
