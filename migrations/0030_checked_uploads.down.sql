-- Nothing to take back: the files are gone, and no dataset needs them.
select;
