"""What a release says of itself: card, figures, front matter, Croissant description."""
