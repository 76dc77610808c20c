"""The rules of the cyclotron as pure functions: no Django, no clock, no randomness without a seed, no input or output."""
