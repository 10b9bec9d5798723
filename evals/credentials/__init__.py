"""What is a credential, where it stands, and how it is kept out of files and messages."""
