"""What `compare` found: its measures, its verdict, and the page that shows them."""
