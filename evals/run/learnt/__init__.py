"""What calls to the judge took, of saved runs and of the run itself: by it an estimate is made and narrowed."""
