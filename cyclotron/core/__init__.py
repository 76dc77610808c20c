"""The rules of the cyclotron as pure functions: no Django, no clock, no unseeded randomness, no input or output."""
