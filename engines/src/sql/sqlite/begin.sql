-- The intent to write comes first. A deferred transaction that has read cannot become a writer once
-- another connection has written: it is refused at once, and no busy timeout applies.
BEGIN IMMEDIATE;
