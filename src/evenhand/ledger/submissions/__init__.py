"""What teams sent in and how far it has come, for boards and pages alike."""
