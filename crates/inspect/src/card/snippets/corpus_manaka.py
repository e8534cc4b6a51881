import manaka

# What the scores mean cannot be read off them: state mate_scale, mate_slack, fv_scale and eval_coef as they were.
manaka.teacher("FILE", "streams")
