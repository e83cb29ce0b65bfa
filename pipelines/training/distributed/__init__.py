"""One run on many processes: the same steps whatever their number, shared out by speed, reduced in fewer bytes."""
