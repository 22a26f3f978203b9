drop index split_making_token;
