"""What one caller may do with the cyclotrons of their account: the path that every door takes."""

from cyclotron.workspace.held import HeldCyclotron
from cyclotron.workspace.workspace import Workspace

__all__ = ["HeldCyclotron", "Workspace"]
