"""What goes wrong before or beside the search."""


class ClusterError(Exception):
    """Something that the user has to know: the message says what, and what to do about it."""
