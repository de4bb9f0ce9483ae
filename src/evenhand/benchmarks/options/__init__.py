"""Options: a prompt and several answers to it, of which a judge picks one."""
