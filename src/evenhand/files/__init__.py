"""Files as the owner's: private rights, nothing written over, each file whole or not there."""
