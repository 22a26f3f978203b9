drop table cross_validation_fold;
drop table cross_validation;
