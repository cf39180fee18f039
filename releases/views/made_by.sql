-- One row a decision: how it was reviewed and what made it.
-- needs: decisions
SELECT
  character_id,
  scenario_id,
  stage,
  review.status AS review,
  review.annotators AS annotators,
  provenance.backend AS backend,
  provenance.model AS model,
  provenance.prompt AS prompt
FROM decisions
