"""What the doors for machines share: access rules, limits, cursors, jobs of an account, and the REST door's own parts.

Rooms bring their own routes; nothing here knows a room.
"""
