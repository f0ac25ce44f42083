"""One file a trainer: its call in, `load_judge`'s verdict out, and a failure said in the way that trainer can bear."""
