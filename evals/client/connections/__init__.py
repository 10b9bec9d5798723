"""Connections to a server: the HTTP libraries, behind one seam."""
