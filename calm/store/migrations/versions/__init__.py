"""One file a revision, oldest first; a published revision is never edited."""
