-- One row an activated memory: its rank in a scenario, how it was cued, and what it is.
-- needs: activations, memories
SELECT
  a.character_id,
  a.scenario_id,
  a.step,
  a.scenario_age,
  a.rank,
  a.memory.memory_id AS memory_id,
  a.memory.type AS type,
  a.memory.cue AS cue,
  m.age,
  m.content_summary
FROM (
  SELECT character_id, scenario_id, step, scenario_age,
    unnest(memories) AS memory, generate_subscripts(memories, 1) AS rank
  FROM activations
) AS a
JOIN memories AS m ON m.id = a.memory.memory_id
