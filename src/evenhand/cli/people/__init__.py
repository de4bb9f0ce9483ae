"""Commands for people's work and for teams: sample, submit, verify."""
