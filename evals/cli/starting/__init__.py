"""A first configuration and a first file of questions, for who has neither."""
