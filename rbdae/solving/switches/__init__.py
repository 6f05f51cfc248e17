"""What a run may have to choose again on its way."""
