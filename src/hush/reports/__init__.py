"""What people read and look at: answers in sentences, PNG figures, and one self-contained HTML page."""
