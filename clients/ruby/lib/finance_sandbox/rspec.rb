# frozen_string_literal: true

require "finance_sandbox/kit"

module FinanceSandbox
  # For RSpec: examples with the tag `:sandbox` have `world`. An example that fails also prints what happened in its world.
  module RSpec
    def world = @world ||= Sandbox.shared.world(::RSpec.current_example.full_description)
  end
end

RSpec.configure do |config|
  config.include FinanceSandbox::RSpec, :sandbox
  config.after(:each, :sandbox) do |example|
    next unless @world

    config.reporter.message("\n#{example.full_description}\n#{@world.safe_report}") if example.exception
    @world.close
  end
end
