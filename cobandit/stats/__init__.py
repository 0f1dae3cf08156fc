"""Regrets, scores and their intervals; methods compared replication by replication."""

from cobandit.stats.contrasts import leaders as leaders
from cobandit.stats.contrasts import paired_contrasts as paired_contrasts
from cobandit.stats.metrics import efficiency_regret as efficiency_regret
from cobandit.stats.metrics import f1_score as f1_score
from cobandit.stats.metrics import mean_interval as mean_interval
from cobandit.stats.metrics import moving_average as moving_average
from cobandit.stats.metrics import proportion_interval as proportion_interval
from cobandit.stats.metrics import standard_regret as standard_regret
from cobandit.stats.metrics import summarise as summarise
from cobandit.stats.paired_errors import joint_errors as joint_errors
from cobandit.stats.paired_errors import mcnemar as mcnemar
from cobandit.stats.paired_errors import paired_difference as paired_difference
from cobandit.stats.paired_errors import paired_power as paired_power
from cobandit.stats.paired_errors import replays_needed as replays_needed
