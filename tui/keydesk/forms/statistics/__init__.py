"""The page of statistics: figures, groups, pictures, heat maps and what-if; the pages of a day and a week."""
