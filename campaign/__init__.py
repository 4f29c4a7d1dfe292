"""Long tests of what mppo promises: `python -m campaign PART`, and `report` for the page.

They are no part of the package. Their short forms run with the fast tests, through the same
functions. What was found is kept in results/reliability, one JSON line for each case; a second
call does only what is missing.
"""
