"""Pages that belong to no room: the frame, signing in and out, and errors."""
