"""Where questions are asked and texts embedded: in this process, or on the workers of a Dask cluster.

Dask is imported where it is used, and nowhere else. `cluster` and `plugin` are the only modules that know it.
"""
