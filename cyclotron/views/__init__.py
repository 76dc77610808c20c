"""The cyclotron's pages: translate in, one call, translate out. Source: spec held-out, section 9."""
