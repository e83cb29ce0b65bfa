"""Questions to the tables, as SQL that needs no Spark: views that are there by name, ready to be asked."""
