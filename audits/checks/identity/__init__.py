"""Whether a text gives away who the protagonist is: by name, or by a word for one gender."""
